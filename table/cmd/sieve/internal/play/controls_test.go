package play

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
)

// controls are all controls of the page. The page starts with 10 words. The Tab key reaches the controls in this
// order, except that it has to go around twice: to the choice of settings, and to the button that removes all
// keys.
var controls = []pagetest.Control{
	{Element: "#sizing input[name=by]", Name: "radio false-positive rate"},
	{Element: "#n", Name: "spinbutton Keys, n", Keys: "40", Shows: "#sizing-facts", Text: "bits, m 400 =", Draws: "#bits-picture"},
	{Element: "#rate", Name: "spinbutton False positives, %", Keys: "5", Shows: "#sizing-facts", Text: "bits, m 280 =", Draws: "#bits-picture"},
	{Element: "#sizing input[name=by]", Name: "radio false-positive rate", Keys: kb.ArrowRight, Shows: "#sizing", Text: "Bits each key sets"},
	{Element: "#bits", Name: "spinbutton Bits per key", Keys: "8", Shows: "#sizing-facts", Text: "bits, m 320 =", Draws: "#bits-picture"},
	{Element: "#k", Name: "spinbutton Bits each key sets, k", Keys: "3", Shows: "#sizing-facts", Text: "LevelDB's k 5", Draws: "#bits-picture"},
	{Element: "#new-key", Name: "textbox Key to add", Keys: "ada" + kb.Enter, Shows: "#added", Text: "Added “ada”. The filter has 11 keys.", Draws: "#bits-picture"},
	{Element: "#new-key", Name: "textbox Key to add", Keys: "grace", Shows: "#new-key", Text: "grace"},
	{Element: "#add button", Name: "button Add", Keys: kb.Enter, Shows: "#added", Text: "The filter has 12 keys.", Draws: "#bits-picture"},
	{Element: "#examples", Name: "combobox Example keys", Keys: kb.ArrowDown, Shows: "#rates", Text: "user names that were not added"},
	{Element: "[data-add='10']", Name: "button Add 10", Keys: " ", Shows: "#added", Text: "The filter has 22 keys.", Draws: "#bits-picture"},
	{Element: "[data-add='100']", Name: "button Add 100", Keys: kb.Enter, Shows: "#added", Text: "The filter has 122 keys. ⚠ That exceeds the 40", Draws: "#bits-picture"},
	{Element: "[data-add='1000']", Name: "button Add 1000", Keys: " ", Shows: "#added", Text: "The filter has 1,122 keys.", Draws: "#bits-picture"},
	{Element: "#keys", Name: "listbox Keys in the filter", Keys: kb.End, Shows: "#key-info", Text: "Key “user1110”", Draws: "#bits-picture"},
	{Element: ".rates .scroll", Name: "region Predicted and measured"},
	{Element: "#bits-picture", Name: "slider Bits of the filter", Keys: kb.End, Shows: "#bit-info", Text: "Bit 319 of 320", Draws: "#bits-picture"},
	{Element: "summary", Name: "DisclosureTriangle The filter’s bytes", Keys: kb.Enter, Shows: "details", Text: "As LevelDB stores them"},
	{Element: "#key", Name: "textbox Key to look up", Keys: "ada" + kb.Enter, Shows: "#answer", Text: "“ada” All 3 probes", Draws: "#bits-picture"},
	{Element: "#key", Name: "textbox Key to look up", Keys: strings.Repeat(kb.Backspace, 3) + "user0110", Shows: "#key", Text: "user0110"},
	{Element: "#ask button", Name: "button Look up", Keys: " ", Shows: "#answer", Text: "“user0110” All 3 probes", Draws: "#bits-picture"},
	{Element: "#find", Name: "button Find a false positive", Keys: kb.Enter, Shows: "#answer", Text: "a false positive", Draws: "#bits-picture"},
	{Element: "#speed-keys", Name: "spinbutton Number of keys to measure with", Keys: "1000" + kb.Enter, Shows: "#speeds", Text: "With 1,000 keys in 1,000 bytes, k = 3"},
	{Element: "#speed-keys", Name: "spinbutton Number of keys to measure with", Keys: strings.Repeat(kb.Backspace, 4) + "2000", Shows: "#speed-keys", Text: "2000"},
	{Element: "#speed button", Name: "button Measure", Keys: " ", Shows: "#speeds", Text: "Of 2,000 other keys"},
	{Element: ".speed .scroll", Name: "region Speed in this browser"},
	{Element: "#clear", Name: "button Remove all keys", Keys: " ", Shows: "#added", Text: "All keys were removed.", Draws: "#bits-picture"},
}

// Every control of the page can be operated by keyboard alone, on a phone and in a wide window, and the page
// shows the effect.
func TestControls(t *testing.T) {
	t.Parallel()
	for _, width := range pagetest.Widths {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			openPlay(t, width, "").Operate(controls)
		})
	}
}
