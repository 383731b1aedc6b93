package packing

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// What is read of the published schema.
var schema = []struct {
	table   string
	columns []string
}{
	{"vm", []string{"vmId", "vmTypeId", "starttime", "endtime"}},
	{"vmType", []string{"vmTypeId", "machineId", "core", "memory", "ssd"}},
}

// checkSchema says what a file that is not the trace lacks.
func checkSchema(ctx context.Context, db *sql.DB) error {
	for _, want := range schema {
		has, err := columnsOf(ctx, db, want.table)
		if err != nil {
			return err
		}
		if len(has) == 0 {
			return fmt.Errorf("has no table %s: it is not an Azure packing trace", want.table)
		}
		for _, column := range want.columns {
			if !slices.ContainsFunc(has, func(c string) bool { return strings.EqualFold(c, column) }) {
				return fmt.Errorf("table %s has no column %s, but %s: it is not an Azure packing trace", want.table, column, strings.Join(has, ", "))
			}
		}
		var some bool
		if err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+want.table+")").Scan(&some); err != nil {
			return err
		}
		if !some {
			return fmt.Errorf("table %s is empty", want.table)
		}
	}
	return nil
}

// columnsOf returns nothing for a table that is not there.
func columnsOf(ctx context.Context, db *sql.DB, table string) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		columns = append(columns, name)
	}
	return columns, rows.Err()
}
