"""A learned image-text embedding, solved for one collection in seconds on a CPU.

Both sides are a linear map of fixed features, scaled to length 1: of a picture's patches or histograms (``patches``),
and of a caption's weighted words or phrases. Different settings give annotators that disagree, which a pool needs.

Captions' weighted bags are projected onto their ``dim`` largest singular directions (latent semantic analysis), and a
ridge regression predicts the mean projection of an image's captions from its picture.
"""

from counterpart_annotators.options import choice, number

OPTIONS = {
    "image": choice("patches", "features of pictures", ("patches", "histogram")),
    "text": choice("words", "features of captions", ("words", "phrases")),
    "dim": number(128, "length of the embeddings, 2 to 1024", min_value=2, max_value=1024),
}
CHECKPOINT = "optional"
LEARNS = True
