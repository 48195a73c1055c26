package text

import "strings"

// OneOf lists words of which one is wanted, as in "auto, yes or no".
func OneOf(words ...string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
