"""Games told in their rulebooks' words, one module per game, from the steps that sim/replay.py keeps."""
