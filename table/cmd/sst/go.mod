module github.com/sievetable/sievetable/table/cmd/sst

go 1.25

require github.com/sievetable/sievetable v0.0.0

replace github.com/sievetable/sievetable => ../../..
