/** The query plans of the statements behind a request. */
import { Client } from "pg"
import { type Parameter, since, type SqlTap } from "../setup/SqlTap.ts"

export interface Plan {
  readonly statement: string
  readonly milliseconds: number
  readonly lines: ReadonlyArray<string>
}

/** Sends the request once, then runs its statements with `explain (analyze, buffers)`. Returns the slowest first. */
export async function plansOf(url: string, tap: SqlTap, request: () => Promise<unknown>): Promise<ReadonlyArray<Plan>> {
  const before = tap.statements()
  await request()
  const statements = [...since(before, tap.statements()).keys()].filter((text) =>
    /^\s*(select|with|\(select)\b/i.test(text)
  )
  const parameters = tap.parameters()
  const client = new Client({ connectionString: url, application_name: "bench" })
  client.on("error", () => {})
  await client.connect()
  // The same settings as the server's connections.
  await client.query("set jit = off")
  await client.query("set max_parallel_workers_per_gather = 0")
  try {
    const plans: Array<Plan> = []
    for (const statement of statements) {
      plans.push(await explain(client, statement, parameters.get(statement) ?? []))
    }
    return plans.toSorted((a, b) => b.milliseconds - a.milliseconds)
  } finally {
    await client.end()
  }
}

async function explain(client: Client, statement: string, parameters: ReadonlyArray<Parameter>): Promise<Plan> {
  const types: Array<string> = []
  for (const { type } of parameters) types.push(await nameOf(client, type))
  const values = parameters.map(literal)
  const given = (texts: ReadonlyArray<string>) => (texts.length === 0 ? "" : `(${texts.join(", ")})`)
  await client.query(`prepare explained ${given(types)} as ${statement}`)
  try {
    const { rows } = await client.query<{ "QUERY PLAN": string }>(
      `explain (analyze, buffers) execute explained ${given(values)}`
    )
    const lines = rows.map((row) => row["QUERY PLAN"])
    const time = lines
      .map((line) => /^Execution Time: ([\d.]+) ms/.exec(line)?.[1])
      .find((found) => found !== undefined)
    return { statement: statement.replaceAll(/\s+/g, " ").trim(), milliseconds: Number(time), lines }
  } finally {
    await client.query("deallocate explained")
  }
}

async function nameOf(client: Client, type: number): Promise<string> {
  if (type === 0) return "unknown"
  const { rows } = await client.query<{ name: string }>("select $1::text::oid::regtype::text as name", [`${type}`])
  return rows[0]!.name
}

/** Returns a parameter as a literal. Handles the few types that drivers send in binary. */
function literal({ type, value }: Parameter): string {
  if (value === null) return "null"
  const text = typeof value === "string" ? value : decoded(type, value)
  return `'${text.replaceAll("'", "''")}'`
}

function decoded(type: number, bytes: Buffer): string {
  switch (type) {
    case 16:
      return bytes[0] === 1 ? "true" : "false"
    case 17:
      return `\\x${bytes.toString("hex")}`
    case 20:
      return String(bytes.readBigInt64BE(0))
    case 23:
      return String(bytes.readInt32BE(0))
    case 701:
      return String(bytes.readDoubleBE(0))
    case 1184:
      return new Date(Date.UTC(2000, 0, 1) + Number(bytes.readBigInt64BE(0)) / 1000).toISOString()
    case 2950:
      return bytes.toString("hex")
    case 1009:
      return arrayText(bytes)
    default:
      return bytes.toString("utf8")
  }
}

/** Decodes a one-dimensional array of texts. */
function arrayText(bytes: Buffer): string {
  const count = bytes.readInt32BE(0) === 0 ? 0 : bytes.readInt32BE(12)
  let at = 20
  const texts = Array.from({ length: count }, () => {
    const length = bytes.readInt32BE(at)
    const text = bytes.toString("utf8", at + 4, at + 4 + length)
    at += 4 + length
    return `"${text.replaceAll(/["\\\\]/g, "\\\\$&")}"`
  })
  return `{${texts.join(",")}}`
}
