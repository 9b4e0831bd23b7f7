"""What came before: exports of other programs are imported, old blocks rewritten."""
