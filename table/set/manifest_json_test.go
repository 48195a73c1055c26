package set

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
)

// randomTable returns a Table with random values of all kinds.
func randomTable(rng *rand.Rand) Table {
	text := func() []byte {
		b := make([]byte, rng.IntN(12))
		for i := range b {
			b[i] = byte(rng.IntN(256))
		}
		return b
	}
	names := []string{"", "t.ldb", "a\"\\b", "<é&>", "\u2028\x00\x7f", strings.ToValidUTF8(string(text()), "?")}
	return Table{
		Name: names[rng.IntN(len(names))], Size: rng.Int64() >> rng.IntN(64), SHA256: hex.EncodeToString(text()),
		Entries: rng.Uint64N(math.MaxUint64) >> rng.IntN(64), Smallest: text(), Largest: text(),
		TailSize: -rng.Int64N(3), TailSum: hex.EncodeToString(text()),
		FilterSize: rng.Int64N(3) - 1, FilterBits: rng.IntN(3) - 1,
	}
}

// mutated returns a line with a small change, in most cases.
func mutated(rng *rand.Rand, line string) string {
	at := rng.IntN(len(line))
	piece := []string{
		" ", "\t", "\r", "\n", "0", "-", "+", "e1", ".0", "null", "[1]", "{}", "\"", ",", "\\u0041", "\\/", "=", "A", "\xff",
		`"name":"x",`, `"size":1,`, `"more":1,`, `,"tailSum":"00"`, `,"tailSum":""`, `,"filterSize":0`, `,"filterBits":8`,
	}[rng.IntN(26)]
	switch rng.IntN(6) {
	case 0: // an insertion
		return line[:at] + piece + line[at:]
	case 1: // a place where more can be
		mark := []string{"{", "}", ":", ","}[rng.IntN(4)]
		return strings.Replace(line, mark, []string{mark + piece, piece + mark}[rng.IntN(2)], 1)
	case 2:
		return line[:at] + line[at+1:]
	case 3: // another case of a letter, such as in a field's name
		return line[:at] + strings.ToUpper(line[at:at+1]) + line[at+1:]
	case 4: // other values, or fields in another order
		fields := strings.Split(strings.Trim(line, "{}"), ",")
		i, j := rng.IntN(len(fields)), rng.IntN(len(fields))
		fields[i], fields[j] = fields[j], fields[i]
		return "{" + strings.Join(fields, ",") + "}"
	}
	return line + piece
}

// The fast and the strict way to decode a line agree: if the fast one accepts a line, the strict one returns the
// same. Lines written by MarshalJSON take the fast one, and UnmarshalJSON reads them.
func TestBothWaysToDecodeALineAgree(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 1))
	taken := 0
	for i := range long.Rounds(20_000, 1_000_000) {
		want := randomTable(rng)
		b, err := json.Marshal(want)
		noError(t, err)
		line := string(b)
		mutations := i % 4
		for range mutations {
			line = mutated(rng, line)
		}
		var short, strict, public Table
		isWritten := short.decodeWritten([]byte(line))
		switch err := strict.decodeStrictly([]byte(line)); {
		case mutations == 0 && !isWritten:
			t.Fatalf("%q is not taken the short way", line)
		case mutations == 0 && !cmp.Equal(short, want):
			t.Fatalf("%q is read as %+v, want %+v", line, short, want)
		case mutations == 0 && (json.Unmarshal(b, &public) != nil || !cmp.Equal(public, want)):
			t.Fatalf("%q is read by Unmarshal as %+v, want %+v", line, public, want)
		case isWritten && (err != nil || !cmp.Equal(short, strict)):
			t.Fatalf("%q is read as %+v, and strictly as %+v, %v", line, short, strict, err)
		case mutations > 0 && isWritten:
			taken++
		}
		if !isWritten && !cmp.Equal(short, Table{}) {
			t.Fatalf("%q is refused, and leaves %+v", line, short)
		}
	}
	if taken == 0 {
		t.Error("no mutated line was taken the short way")
	}
}
