package workload

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// URLLen is the length of every URL of W3 and W4.
const URLLen = 64

// The fields of a URL's code, from the highest bits to the lowest.
const (
	hostBits, sectionBits, topicBits = 12, 6, 10

	idBits = 64 - hostBits - sectionBits - topicBits
)

// W3 returns n URLs of 64 bytes with empty values. Each has a host, two levels of path, and a number, so that
// neighbors share long prefixes. There are a few thousand hosts, and a small share of them has most of the URLs. The
// absent keys are n further URLs of the same form, at most a million.
func W3(n int) Set {
	rng := rand.New(rand.NewPCG(5, 5))
	absent := min(n, 1_000_000)
	codes := urlCodes(rng, n+absent)
	place := rng.Perm(len(codes))
	missing := make([]uint64, absent)
	isMissing := make([]bool, len(codes))
	for i, p := range place[:absent] {
		missing[i] = codes[p]
		isMissing[p] = true
	}
	present := codes[:0]
	for i, c := range codes {
		if !isMissing[i] {
			present = append(present, c)
		}
	}
	words := newURLWords()
	return Set{Keys: words.urls(present), Absent: words.urls(missing), Values: make([][]byte, n), Hits: rng.Perm(n)}
}

// urlCodes returns n distinct codes in ascending order, which is the order of their URLs.
func urlCodes(rng *rand.Rand, n int) []uint64 {
	codes := make([]uint64, 0, n)
	for len(codes) < n {
		for len(codes) < n {
			codes = append(codes, urlCode(rng))
		}
		slices.Sort(codes)
		codes = slices.Compact(codes)
	}
	return codes
}

// urlCode draws a code. Hosts of lower rank have more URLs.
func urlCode(rng *rand.Rand) uint64 {
	u := rng.Float64()
	rank := uint64(u * u * u * (1 << hostBits))
	host := rank * 2029 % (1 << hostBits) // big hosts are not neighbors
	return host<<(64-hostBits) | rng.Uint64()>>hostBits
}

// urlWords are the words for the fields of a code. Each list is in ascending order.
type urlWords struct {
	hosts, sections, topics []string
}

func newURLWords() urlWords {
	return urlWords{
		hosts:    wordList(hostBits, ".org/"),
		sections: wordList(sectionBits, "/"),
		topics:   wordList(topicBits, "/index.html?id="),
	}
}

// wordList returns 2^bits distinct words in ascending order, each followed by end.
func wordList(bits int, end string) []string {
	syllables := strings.Fields("ba ce di fo gu ha ke li mo nu pa re si to vu ze")
	words := make([]string, 1<<bits)
	for i := range words {
		for shift := 0; shift < bits; shift += 4 {
			words[i] += syllables[i>>shift&15]
		}
		words[i] += end
	}
	slices.Sort(words)
	return words
}

// urls returns the URLs of the codes, in one piece of memory.
func (w urlWords) urls(codes []uint64) [][]byte {
	all := make([]byte, 0, URLLen*len(codes))
	urls := make([][]byte, len(codes))
	for i, code := range codes {
		all = w.append(all, code)
		urls[i] = all[URLLen*i : URLLen*(i+1) : URLLen*(i+1)]
	}
	return urls
}

// append appends the URL of a code. The number is padded with zeros, so that URLs are in the
// order of their numbers.
func (w urlWords) append(dst []byte, code uint64) []byte {
	end := len(dst) + URLLen
	dst = append(dst, "https://www."...)
	dst = append(dst, w.hosts[code>>(64-hostBits)]...)
	dst = append(dst, w.sections[code>>(topicBits+idBits)&(1<<sectionBits-1)]...)
	dst = append(dst, w.topics[code>>idBits&(1<<topicBits-1)]...)
	from := len(dst)
	dst = dst[:end]
	id := code & (1<<idBits - 1)
	for i := end - 1; i >= from; i-- {
		dst[i] = '0' + byte(id%10)
		id /= 10
	}
	return dst
}
