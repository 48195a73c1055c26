package printable

import (
	"encoding/hex"
	"math/rand"
	"strings"
	"testing"
)

// The speed of Escape on typical values, compared with hexadecimal. There is so much data that the processor cannot
// learn it for its branch predictions.
func BenchmarkAppend(b *testing.B) {
	random := make([]byte, 1<<20)
	rand.New(rand.NewSource(1)).Read(random)
	half := []byte(string(random))
	for i := range half {
		if i%100 >= 48 {
			half[i] = 'x'
		}
	}
	for name, data := range map[string][]byte{
		"random":   random,
		"half":     half,
		"ascii":    []byte(strings.Repeat("The quick brown fox ", 1<<16)),
		"cyrillic": []byte(strings.Repeat("Съешь ещё этих ", 1<<16)),
		"chinese":  []byte(strings.Repeat("敏捷的棕色狐狸", 1<<16)),
		"counters": []byte(strings.Repeat("\x00\x00\x00\x01", 1<<18)),
	} {
		for form, encode := range map[string]func(dst, b []byte) []byte{"text": AppendEscape, "hex": hex.AppendEncode} {
			b.Run(name+"/"+form, func(b *testing.B) {
				var line []byte
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					for at := 0; at+100 < len(data); at += 100 {
						line = encode(line[:0], data[at:at+100])
					}
				}
			})
		}
	}
}
