"""Assembly (contract, "Assembly"): one clip picked per storyboard slot among its candidates."""
