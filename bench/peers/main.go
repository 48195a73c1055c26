package main

import (
	"log"
	"os"

	"github.com/sievetable/sievetable/bench/peers/internal/report"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("peers: ")
	if len(os.Args) > 1 {
		log.Fatal("unexpected arguments: go run ./bench/peers draws the results in bench/peers/lookups.txt")
	}
	if err := report.Draw("."); err != nil {
		log.Fatal(err)
	}
}
