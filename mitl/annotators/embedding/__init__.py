"""A learned image-text embedding, solved for one collection in seconds on a CPU.

Both sides are a linear map of fixed features, scaled to length 1: of a picture's patches or histograms (``patches``),
and of a caption's weighted words or phrases. Different settings give annotators that disagree, which a pool needs.

Captions' weighted bags are projected onto their ``dim`` largest singular directions (latent semantic analysis), and a
ridge regression predicts the mean projection of an image's captions from its picture.
"""

from mitl.options import Option

OPTIONS = {
    "image": Option("patches", "features of pictures", choices=("patches", "histogram")),
    "text": Option("words", "features of captions", choices=("words", "phrases")),
    "dim": Option(128, "length of the embeddings, 2 to 1024", allows=lambda dim: 2 <= dim <= 1024),
}
CHECKPOINT = "optional"
LEARNS = True
