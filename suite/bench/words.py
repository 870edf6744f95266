"""Lists of words on a command line."""
import argparse


def some_of(known):
    """A reader for argparse: words with commas between, each one of `known`."""
    def read(text):
        words = text.split(",")
        for word in words:
            if word not in known:
                raise argparse.ArgumentTypeError(f"{word!r}, expected some of {','.join(known)}")
        return words
    return read
