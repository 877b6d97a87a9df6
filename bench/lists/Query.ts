/** Statements on the measured database. */
import { Client } from "pg"

/** Runs one statement on a connection of its own. */
export async function query<Row>(url: string, text: string, values: ReadonlyArray<unknown> = []): Promise<Array<Row>> {
  const client = new Client({ connectionString: url, application_name: "bench" })
  client.on("error", () => {})
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}
