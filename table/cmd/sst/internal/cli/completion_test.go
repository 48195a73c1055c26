package cli

import "testing"

func TestBrief(t *testing.T) {
	for in, want := range map[string]string{
		"of ten co.":                    "of ten co.",
		"the first. The second":         "the first",
		"a size (default 1); it is big": "a size",
		"one: two, three":               "one",
		"some words without an end":     "some …",
		"élan é é é é é":                "élan é é …",
		"unbreakable-words":             "…",
	} {
		if got := brief(in, 10); got != want {
			t.Errorf("brief(%q) = %q, want %q", in, got, want)
		}
	}
}
