module github.com/sievetable/sievetable

go 1.25

require (
	github.com/golang/snappy v1.0.0
	github.com/google/go-cmp v0.7.0
)
