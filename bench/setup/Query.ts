/** Statements on a database. */
import { Client } from "pg"

/** Runs one statement on a new connection. Without values, the text may contain several statements. */
export async function query<Row>(url: string, text: string, values: ReadonlyArray<unknown> = []): Promise<Array<Row>> {
  const client = new Client({ connectionString: url, application_name: "bench" })
  client.on("error", () => {})
  await client.connect()
  try {
    return (await (values.length === 0 ? client.query<Row>(text) : client.query<Row>(text, values))).rows
  } finally {
    await client.end()
  }
}
