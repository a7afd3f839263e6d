package main

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

type Series struct {
	// Name and labels of the series in the text format.
	Metric string `json:"metric"`
	// Samples in the notation of Prometheus' unit tests of rules: `0+1x10 _ stale`.
	Values string `json:"values"`
	// Samples instead of Values: one number each interval, null for a missing one.
	Points []*float64 `json:"points"`
}

// database keeps a few series in memory. Prometheus' own storage would add the clients of all its service
// discoveries and clouds to this program.
type database []storage.Series

func newDatabase(parse parser.Parser, all []Series, interval int64) (database, error) {
	content := database{}
	for _, series := range all {
		name, values, err := parse.ParseSeriesDesc(series.Metric + " " + series.Values)
		if err != nil {
			return nil, fmt.Errorf("cannot read the series %s: %w", series.Metric, err)
		}
		samples := []chunks.Sample{}
		for index, value := range values {
			if !value.Omitted {
				samples = append(samples, sample{int64(index) * interval * 1000, value.Value})
			}
		}
		for index, point := range series.Points {
			if point != nil {
				samples = append(samples, sample{int64(index) * interval * 1000, *point})
			}
		}
		content = append(content, storage.NewListSeries(name, samples))
	}
	sort.Slice(content, func(a, b int) bool { return labels.Compare(content[a].Labels(), content[b].Labels()) < 0 })
	return content, nil
}

func (content database) Querier(_, _ int64) (storage.Querier, error) { return content, nil }

func (content database) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	set := &seriesSet{}
	for _, series := range content {
		matches := true
		for _, matcher := range matchers {
			matches = matches && matcher.Matches(series.Labels().Get(matcher.Name))
		}
		if matches {
			set.rest = append(set.rest, series)
		}
	}
	return set
}

func (database) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, errors.New("no query asks for the values of labels")
}

func (database) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, errors.New("no query asks for the names of labels")
}

func (database) Close() error { return nil }

type seriesSet struct {
	current storage.Series
	rest    []storage.Series
}

func (set *seriesSet) Next() bool {
	if len(set.rest) == 0 {
		return false
	}
	set.current, set.rest = set.rest[0], set.rest[1:]
	return true
}

func (set *seriesSet) At() storage.Series                { return set.current }
func (set *seriesSet) Err() error                        { return nil }
func (set *seriesSet) Warnings() annotations.Annotations { return nil }

// sample is a number at a time, which is in milliseconds.
type sample struct {
	time  int64
	value float64
}

func (s sample) T() int64                      { return s.time }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }
