"""The product's readers, each with native code that requests can run (`tests.sandbox.attacks`)."""
