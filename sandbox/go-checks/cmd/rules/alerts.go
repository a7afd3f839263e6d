package main

import (
	"context"
	"fmt"
	"net/url"
	"sort"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"
)

type Alert struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	// The first and the last evaluation in which the alert fires, in seconds after the first sample.
	From int64 `json:"from"`
	To   int64 `json:"to"`

	activeSince int64
	fires       bool
}

// alertsOf evaluates a rule at each interval and returns every alert that fires at some time. As in Prometheus, an alert
// is active while the expression returns its labels, and fires when it has been active for the time in `for`.
func alertsOf(rule rulefmt.Rule, query func(string, time.Time) (promql.Vector, error), interval, end int64) ([]*Alert, error) {
	hold := int64(time.Duration(rule.For).Seconds())
	active := map[uint64]*Alert{}
	fired := []*Alert{}
	for now := int64(0); now <= end; now += interval {
		result, err := query(rule.Expr, at(now))
		if err != nil {
			return nil, err
		}
		seen := map[uint64]bool{}
		for _, sample := range result {
			key := sample.Metric.Hash()
			seen[key] = true
			alert := active[key]
			if alert == nil {
				alert = &Alert{Name: rule.Alert, activeSince: now}
				active[key] = alert
			}
			if now-alert.activeSince < hold {
				continue
			}
			if !alert.fires {
				alert.fires, alert.From = true, now
				fired = append(fired, alert)
			}
			alert.To = now
			if err := alert.describe(rule, sample, now); err != nil {
				return nil, err
			}
		}
		for key := range active {
			if !seen[key] {
				delete(active, key)
			}
		}
	}
	sort.SliceStable(fired, func(a, b int) bool { return fired[a].From < fired[b].From })
	return fired, nil
}

func (alert *Alert) describe(rule rulefmt.Rule, sample promql.Sample, now int64) error {
	own := labels.NewBuilder(sample.Metric).Del(model.MetricNameLabel).Labels().Map()
	expand := func(texts map[string]string) (map[string]string, error) {
		expanded := map[string]string{}
		for name, text := range texts {
			const variables = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"
			data := template.AlertTemplateData(own, nil, "", sample)
			noQueries := func(context.Context, string, time.Time) (promql.Vector, error) {
				return nil, fmt.Errorf("a template queries")
			}
			value, err := template.NewTemplateExpander(context.Background(), variables+text, rule.Alert, data,
				model.TimeFromUnix(now), noQueries, &url.URL{}, []string{"missingkey=error"}).Expand()
			if err != nil {
				return nil, fmt.Errorf("cannot expand %s of the alert %s: %w", name, rule.Alert, err)
			}
			expanded[name] = value
		}
		return expanded, nil
	}
	added, err := expand(rule.Labels)
	if err != nil {
		return err
	}
	alert.Labels = own
	for name, value := range added {
		alert.Labels[name] = value
	}
	alert.Annotations, err = expand(rule.Annotations)
	return err
}
