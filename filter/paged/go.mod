module github.com/sievetable/sievetable/filter/paged

go 1.25.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/sievetable/sievetable v0.1.0
	github.com/zeebo/xxh3 v1.1.0
)

require (
	github.com/golang/snappy v1.0.0 // indirect
	github.com/klauspost/cpuid/v2 v2.2.10 // indirect
	golang.org/x/sys v0.30.0 // indirect
)
