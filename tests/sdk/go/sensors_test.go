// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"errors"
	"fmt"
	"sort"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/aws/awserr"
	"github.com/aws/aws-sdk-go/service/dynamodb"
	"github.com/aws/aws-sdk-go/service/dynamodb/dynamodbattribute"
	"github.com/aws/aws-sdk-go/service/dynamodb/expression"
)

var errRegistered = errors.New("already registered")

type sensorRow struct {
	PK       string `dynamodbav:"pk"`
	SK       string `dynamodbav:"sk"`
	City     string `dynamodbav:"city"`
	Building string `dynamodbav:"building"`
	Floor    string `dynamodbav:"floor"`
	Room     string `dynamodbav:"room"`
	GSIPK    string `dynamodbav:"gsi_pk,omitempty"`
	GSISK    string `dynamodbav:"gsi_sk,omitempty"`
}

type readingRow struct {
	PK    string `dynamodbav:"pk"`
	SK    string `dynamodbav:"sk"`
	Value string `dynamodbav:"value"`
}

// sensors sends what the post's two versions send: location items in a transaction, or an index.
type sensors struct {
	t       *testing.T
	db      *dynamodb.DynamoDB
	table   string
	indexed bool
}

func row(id, city, building, floor, room string) sensorRow {
	return sensorRow{PK: "SENSOR#" + id, SK: "SENSORINFO", City: city, Building: building, Floor: floor, Room: room}
}

func (s sensors) register(id string, r sensorRow) error {
	location := fmt.Sprintf("LOCATION#%s#%s#%s", r.Building, r.Floor, r.Room)
	if s.indexed {
		r.GSIPK, r.GSISK = "CITY#"+r.City, location
	}
	item, err := dynamodbattribute.MarshalMap(r)
	if err != nil {
		return err
	}
	e, err := expression.NewBuilder().WithCondition(expression.AttributeNotExists(expression.Name("pk"))).Build()
	if err != nil {
		return err
	}
	if s.indexed {
		_, err = s.db.PutItem(&dynamodb.PutItemInput{TableName: &s.table, Item: item,
			ConditionExpression: e.Condition(), ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values()})
		var failed *dynamodb.ConditionalCheckFailedException
		if errors.As(err, &failed) {
			return errRegistered
		}
		return err
	}
	_, err = s.db.TransactWriteItems(&dynamodb.TransactWriteItemsInput{TransactItems: []*dynamodb.TransactWriteItem{
		{Put: &dynamodb.Put{TableName: &s.table, Item: item,
			ConditionExpression: e.Condition(), ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values()}},
		{Put: &dynamodb.Put{TableName: &s.table, Item: map[string]*dynamodb.AttributeValue{
			"pk": {S: aws.String("CITY#" + r.City)}, "sk": {S: &location}, "id": {S: &id}}}},
	}})
	var cancelled *dynamodb.TransactionCanceledException
	if errors.As(err, &cancelled) && aws.StringValue(cancelled.CancellationReasons[0].Code) == "ConditionalCheckFailed" {
		return errRegistered
	}
	return err
}

func (s sensors) record(id, value string, at time.Time) {
	s.t.Helper()
	item, err := dynamodbattribute.MarshalMap(readingRow{"SENSOR#" + id, "READ#" + at.Format(time.RFC3339), value})
	if err == nil {
		_, err = s.db.PutItem(&dynamodb.PutItemInput{TableName: &s.table, Item: item})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s sensors) latest(id string, n int64) (sensorRow, []readingRow) {
	s.t.Helper()
	e, err := expression.NewBuilder().WithKeyCondition(expression.KeyAnd(
		expression.KeyEqual(expression.Key("pk"), expression.Value("SENSOR#"+id)),
		expression.KeyLessThanEqual(expression.Key("sk"), expression.Value("SENSORINFO")))).Build()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := s.db.Query(&dynamodb.QueryInput{TableName: &s.table, Limit: aws.Int64(n + 1), ScanIndexForward: aws.Bool(false),
		KeyConditionExpression: e.KeyCondition(), ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values()})
	if err != nil {
		s.t.Fatal(err)
	}
	var info sensorRow
	var readings []readingRow
	if err := dynamodbattribute.UnmarshalMap(out.Items[0], &info); err != nil {
		s.t.Fatal(err)
	}
	if err := dynamodbattribute.UnmarshalListOfMaps(out.Items[1:], &readings); err != nil {
		s.t.Fatal(err)
	}
	return info, readings
}

func (s sensors) at(city, prefix string) []string {
	s.t.Helper()
	input := &dynamodb.QueryInput{TableName: &s.table}
	hash, sort_ := "pk", "sk"
	if s.indexed {
		input.IndexName, hash, sort_ = aws.String("ByLocation"), "gsi_pk", "gsi_sk"
	}
	e, err := expression.NewBuilder().WithKeyCondition(expression.KeyAnd(
		expression.KeyEqual(expression.Key(hash), expression.Value("CITY#"+city)),
		expression.KeyBeginsWith(expression.Key(sort_), prefix))).Build()
	if err != nil {
		s.t.Fatal(err)
	}
	input.KeyConditionExpression, input.ExpressionAttributeNames, input.ExpressionAttributeValues = e.KeyCondition(), e.Names(), e.Values()
	out, err := s.db.Query(input)
	if err != nil {
		s.t.Fatal(err)
	}
	var ids []string
	for _, item := range out.Items {
		if s.indexed {
			ids = append(ids, *item["pk"].S)
		} else {
			ids = append(ids, "SENSOR#"+*item["id"].S)
		}
	}
	sort.Strings(ids)
	return ids
}

func TestSensorsGoV1(t *testing.T) {
	db := newV1(t)
	byLocation := &dynamodb.GlobalSecondaryIndex{IndexName: aws.String("ByLocation"),
		KeySchema: []*dynamodb.KeySchemaElement{
			{AttributeName: aws.String("gsi_pk"), KeyType: aws.String("HASH")},
			{AttributeName: aws.String("gsi_sk"), KeyType: aws.String("RANGE")}},
		Projection: &dynamodb.Projection{ProjectionType: aws.String("ALL")}}
	now := time.Date(2020, 3, 1, 12, 30, 0, 0, time.UTC)
	home := row("sensor-1", "Poznan", "A", "1", "2")
	layouts := map[string]func(t *testing.T) sensors{
		"location items": func(t *testing.T) sensors { return sensors{t, db, composite(t, db), false} },
		"index":          func(t *testing.T) sensors { return sensors{t, db, composite(t, db, byLocation), true} },
	}
	for layout, open := range layouts {
		t.Run(layout, func(t *testing.T) {
			t.Run("registers once only", func(t *testing.T) {
				s := open(t)
				if err := s.register("sensor-1", home); err != nil {
					t.Fatal(err)
				}
				if err := s.register("sensor-1", home); err != errRegistered {
					t.Fatalf("the second registration: %v", err)
				}
				out, err := db.GetItem(&dynamodb.GetItemInput{TableName: &s.table, Key: map[string]*dynamodb.AttributeValue{
					"pk": {S: aws.String("SENSOR#sensor-1")}, "sk": {S: aws.String("SENSORINFO")}}})
				var got sensorRow
				if err != nil || dynamodbattribute.UnmarshalMap(out.Item, &got) != nil || got.Room != "2" {
					t.Fatalf("%+v %v", got, err)
				}
			})
			t.Run("the sensor and its latest readings in one query", func(t *testing.T) {
				s := open(t)
				if err := s.register("sensor-1", home); err != nil {
					t.Fatal(err)
				}
				s.record("sensor-1", "0.3", now.Add(-20*time.Second))
				s.record("sensor-1", "0.5", now.Add(-10*time.Second))
				s.record("sensor-1", "0.67", now)
				info, readings := s.latest("sensor-1", 2)
				if info.PK != "SENSOR#sensor-1" || len(readings) != 2 || readings[0].Value != "0.67" || readings[1].Value != "0.5" {
					t.Fatalf("%+v %+v", info, readings)
				}
				_, one := s.latest("sensor-1", 1)
				if len(one) != 1 || one[0].Value != "0.67" {
					t.Fatalf("%+v", one)
				}
			})
			t.Run("finds sensors by location", func(t *testing.T) {
				s := open(t)
				for i, place := range [][2]string{{"1", "2"}, {"2", "4"}, {"2", "5"}} {
					id := fmt.Sprintf("sensor-%d", i+1)
					if err := s.register(id, row(id, "Poznan", "A", place[0], place[1])); err != nil {
						t.Fatal(err)
					}
				}
				if got := fmt.Sprint(s.at("Poznan", "LOCATION#A#2")); got != "[SENSOR#sensor-2 SENSOR#sensor-3]" {
					t.Fatal(got)
				}
			})
		})
	}
}

func TestErrorsGoV1(t *testing.T) {
	db := newV1(t)
	_, err := db.GetItem(&dynamodb.GetItemInput{TableName: aws.String("Nowhere"),
		Key: map[string]*dynamodb.AttributeValue{"pk": {S: aws.String("1")}}})
	var failure awserr.RequestFailure
	if !errors.As(err, &failure) || failure.Code() != dynamodb.ErrCodeResourceNotFoundException || failure.StatusCode() != 400 || failure.RequestID() == "" {
		t.Fatalf("%v", err)
	}
}
