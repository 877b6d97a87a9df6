/** Statements on a database. */
import { Client } from "pg"

/** Runs one statement on a new connection. Without values, the text may contain several statements. */
export async function query<Row>(url: string, text: string, values: ReadonlyArray<unknown> = []): Promise<Array<Row>> {
  const client = new Client({ connectionString: url, application_name: "bench" })
  client.on("error", () => {})
  await client.connect()
  try {
    const { rows } = values.length === 0 ? await client.query(text) : await client.query(text, [...values])
    return rows
  } finally {
    await client.end()
  }
}
