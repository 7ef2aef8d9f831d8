"""Ask a model behind an OpenAI-compatible chat endpoint how well a caption fits a picture; pay for each answer once."""
