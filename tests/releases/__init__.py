"""What each release left behind, a backup and a data folder, and the tests that this version opens both."""
