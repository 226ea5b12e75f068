"""The decoding loop: propose, verify, commit, for every method alike."""
