/** A request to the Admin API of a server under test. */
import type { ServerUnderTest } from "./ServerUnderTest.ts"

/** Sends it with a secret key and returns the answer's body. Throws unless it succeeds. */
export const askAdmin = async (server: ServerUnderTest, key: string, method: string, path: string, body?: object) => {
  const response = await fetch(`${server.adminUrl}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}
