/** The tables of `src/cli/OPERATIONS.md` about the size of a drop, computed from the costs in `src/load/Sizing.ts`. */
import {
  benchCosts,
  capacityOf,
  capacityOfProcess,
  type Costs,
  type Machines,
  processCosts,
  sizeFor
} from "../../src/load/Sizing.ts"

type Row = ReadonlyArray<string | number>

const table = (head: Row, rows: ReadonlyArray<Row>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

const rounded = (count: number): string => Number(count.toPrecision(2)).toLocaleString("en")

const costRows = ({
  sessionMicros,
  entryMicros,
  statusMicros,
  ownerEntryMicros,
  ownerStatusMicros,
  databaseSessionMicros,
  databaseEntryMicros
}: Costs): ReadonlyArray<Row> => [
  ["a new consumer's session", sessionMicros, 0, databaseSessionMicros],
  ["an entry", entryMicros, ownerEntryMicros, databaseEntryMicros],
  ["a look at the place", statusMicros, ownerStatusMicros, 0]
]

const machines: ReadonlyArray<readonly [string, Machines]> = [
  ["one of 4 cores, with its Postgres", { cores: 4 }],
  ["one of 16 cores, with its Postgres", { cores: 16 }],
  ["one of 64 cores, with its Postgres", { cores: 64 }],
  ["one of 64 cores, with its Postgres and 4 owners", { cores: 64, owners: 4 }],
  ["two of 4 cores; Postgres on another of 4", { cores: 8, databaseCores: 4 }],
  ["four of 16 cores, with 8 owners; Postgres on another of 8", { cores: 64, owners: 8, databaseCores: 8 }]
]

/** Returns the tables: what a request costs, and what machines take. */
export const sizingTables = (): ReadonlyArray<string> => [
  table(
    ["Processor µs", "one process", "or a front", "and the owner", "and Postgres"],
    costRows(benchCosts).map(([what = "", front = 0, owner = 0, database = 0], index) => [
      what,
      costRows(processCosts)[index]![1]!,
      front,
      owner,
      database
    ])
  ),
  table(
    [
      "Machines",
      "Shoppers in the first minute",
      "Arrivals a second",
      "Full first",
      "Fronts",
      "Busy cores of owners",
      "Cores for Postgres"
    ],
    [
      ["one process; Postgres elsewhere", ...arrivals(capacityOfProcess(processCosts)), "the process", "–", "–", "–"],
      ...machines.map(([name, installation]): Row => {
        const { shoppers, limit } = capacityOf(installation, benchCosts)
        const { fronts, ownerCores, databaseCores } = sizeFor(shoppers, benchCosts)
        return [name, ...arrivals(shoppers), limit, fronts, ownerCores.toFixed(1), databaseCores.toFixed(1)]
      })
    ]
  )
]

const arrivals = (shoppers: number): Row => [rounded(shoppers), rounded(shoppers / 60)]
