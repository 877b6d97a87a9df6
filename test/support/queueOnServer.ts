/** Requests to a server that runs as a process, and a queue on it. */
/** The addresses of a server, and the keys of an organization on it. */
export interface Setup {
  readonly consumerUrl: string
  readonly adminUrl: string
  readonly keys: Readonly<Record<string, string>>
}

/** Sends a request with a body of JSON. Returns the status and the decoded answer. */
export async function send(method: string, url: string, headers: Readonly<Record<string, string>>, body?: object) {
  const type = body === undefined ? {} : { "content-type": "application/json" }
  const init = { method, headers: { ...type, ...headers } }
  const response = await fetch(url, body === undefined ? init : { ...init, body: JSON.stringify(body) })
  const text = await response.text()
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) }
}

/** Creates a record through the Admin API, and returns its id. */
export async function create({ adminUrl, keys }: Setup, path: string, body: object): Promise<string> {
  const answer = await send("POST", `${adminUrl}/api${path}`, { authorization: `Bearer ${keys["secretKey"]}` }, body)
  if (typeof answer.body.id !== "string") throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.id
}

/** Creates an open queue with an experience and a sequence of its own, and returns its id. */
export async function createQueue(setup: Setup, configuration: object = { admitRate: 0 }): Promise<string> {
  const experienceId = await create(setup, "/experiences", { name: "Drop" })
  const sequenceId = await create(setup, "/sequences", { experienceId, name: "All" })
  return create(setup, "/queues", { sequenceId, name: "Line", ...configuration })
}

/** Starts a guest session. Returns the headers of its consumer. */
export async function guest({ consumerUrl, keys }: Setup): Promise<Readonly<Record<string, string>>> {
  const asGuest = { "x-publishable-key": keys["publishableKey"]! }
  const { body } = await send("POST", `${consumerUrl}/api/auth/guest`, asGuest)
  return { ...asGuest, authorization: `Bearer ${body.accessToken}` }
}
