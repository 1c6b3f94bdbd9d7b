"""A figure: what one line of the table and one object of the JSON list say."""
import json
import statistics


def figure(name, unit, values, low=None, high=None):
    """The median of `values`; low and high are the smallest and the largest, unless given."""
    return {
        "name": name,
        "value": round(statistics.median(values), 4),
        "unit": unit,
        "low": round(min(values) if low is None else low, 4),
        "high": round(max(values) if high is None else high, 4),
    }


def print_table(figures):
    rows = [("name", "value", "unit", "low", "high")]
    rows += [(f["name"], f"{f['value']:g}", f["unit"], f"{f['low']:g}", f"{f['high']:g}") for f in figures]
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    for row in rows:
        name, value, unit, low, high = (cell.ljust(w) if i in (0, 2) else cell.rjust(w)
                                        for i, (cell, w) in enumerate(zip(row, widths)))
        print(f"{name}  {value}  {unit}  {low}  {high}", flush=True)


def write_json(figures, path):
    with open(path, "w", encoding="utf-8") as out:
        json.dump(figures, out, indent=2)
        out.write("\n")
