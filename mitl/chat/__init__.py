"""Ask a model behind an OpenAI-compatible chat endpoint how well a description fits a picture, and pay for it once."""
