// Evaluates alerting rules and queries with the engine of Prometheus. It reads a Request from standard input and writes
// an Answer to standard output.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

type Request struct {
	// Seconds between two samples and between two evaluations of the rules.
	Interval int64    `json:"interval"`
	Series   []Series `json:"series"`
	// The content of a file of rules, as Prometheus reads it.
	Rules string `json:"rules"`
	// Time of the last evaluation, in seconds after the first sample.
	End     int64    `json:"end"`
	Queries []string `json:"queries"`
}

type Answer struct {
	// Alerts in the order in which they began to fire.
	Alerts []*Alert `json:"alerts"`
	// Results for the expressions of all rules, then of all queries.
	Expressions []Expression `json:"expressions"`
}

type Expression struct {
	Text string `json:"text"`
	// Number of series in the result of the expression at the end.
	Results   int        `json:"results"`
	Selectors []Selector `json:"selectors"`
	// Labels by which the expression aggregates or joins.
	Labels []string `json:"labels"`
}

type Selector struct {
	Metric string   `json:"metric"`
	Labels []string `json:"labels"`
}

func main() {
	var request Request
	answer := Answer{Alerts: []*Alert{}, Expressions: []Expression{}}
	err := json.NewDecoder(os.Stdin).Decode(&request)
	if err == nil {
		err = evaluate(request, &answer)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(answer)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func evaluate(request Request, answer *Answer) error {
	parse := parser.NewParser(parser.Options{})
	database, err := newDatabase(parse, request.Series, request.Interval)
	if err != nil {
		return err
	}
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1_000_000, Timeout: time.Minute, EnableAtModifier: true, EnableNegativeOffset: true, Parser: parse,
	})
	query := func(text string, at time.Time) (promql.Vector, error) {
		prepared, err := engine.NewInstantQuery(context.Background(), database, nil, text, at)
		if err != nil {
			return nil, fmt.Errorf("cannot parse %s: %w", text, err)
		}
		defer prepared.Close()
		result := prepared.Exec(context.Background())
		if result.Err != nil {
			return nil, fmt.Errorf("cannot evaluate %s: %w", text, result.Err)
		}
		if scalar, err := result.Scalar(); err == nil {
			return promql.Vector{{T: scalar.T, F: scalar.V}}, nil
		}
		return result.Vector()
	}

	groups, faults := rulefmt.Parse([]byte(request.Rules), false, model.UTF8Validation, parse)
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	texts := []string{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			texts = append(texts, rule.Expr)
			alerts, err := alertsOf(rule, query, request.Interval, request.End)
			if err != nil {
				return err
			}
			answer.Alerts = append(answer.Alerts, alerts...)
		}
	}
	for _, text := range append(texts, request.Queries...) {
		result, err := query(text, at(request.End))
		if err != nil {
			return err
		}
		expression := Expression{Text: text, Results: len(result)}
		if err := expression.describe(parse); err != nil {
			return err
		}
		answer.Expressions = append(answer.Expressions, expression)
	}
	return nil
}

func (expression *Expression) describe(parse parser.Parser) error {
	tree, err := parse.ParseExpr(expression.Text)
	if err != nil {
		return err
	}
	expression.Selectors, expression.Labels = []Selector{}, []string{}
	parser.Inspect(tree, func(node parser.Node, _ []parser.Node) error {
		switch each := node.(type) {
		case *parser.VectorSelector:
			selector := Selector{Metric: each.Name, Labels: []string{}}
			for _, matcher := range each.LabelMatchers {
				if matcher.Name != model.MetricNameLabel {
					selector.Labels = append(selector.Labels, matcher.Name)
				}
			}
			expression.Selectors = append(expression.Selectors, selector)
		case *parser.AggregateExpr:
			expression.Labels = append(expression.Labels, each.Grouping...)
		case *parser.BinaryExpr:
			if each.VectorMatching != nil {
				expression.Labels = append(expression.Labels, each.VectorMatching.MatchingLabels...)
				expression.Labels = append(expression.Labels, each.VectorMatching.Include...)
			}
		}
		return nil
	})
	return nil
}

// at returns the time that is this many seconds after the first sample.
func at(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
