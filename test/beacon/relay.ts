/** A beacon relay in this process, and real rounds that the network has published. */
import { Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { chainHash, type Round } from "../../src/beacon/Network.ts"

/** The first round, a later one, and one of March 2024. */
export const published: ReadonlyArray<Round> = [
  {
    round: 1,
    randomness: "1466a6cd24e327188770752f6134001c64d6efcc590ccc26b721611ad96f165a",
    signature: "b55e7cb2d5c613ee0b2e28d6750aabbb78c39dcc96bd9d38c2c2e12198df95571de8e8e402a0cc48871c7089a2b3af4b"
  },
  {
    round: 1_000,
    randomness: "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd",
    signature: "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"
  },
  {
    round: 657_413,
    randomness: "fc1873a13f3545aeade8401532ef5519920652eee6b0d2b19ca12643b87b3587",
    signature: "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b"
  }
]

/** The behaviour of a relay. */
export type Respond = (request: IncomingMessage, response: ServerResponse) => void

/** Returns the published rounds, and 404 for any other, as relays do. */
export const honest: Respond = (request, response) => {
  const found = published.find(({ round }) => request.url === `/${chainHash}/public/${round}`)
  if (found === undefined) response.writeHead(404).end()
  else respondWith(found)(request, response)
}

/** Returns this body for every request. */
export const respondWith =
  (body: unknown): Respond =>
  (_request, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))

/** Starts a relay at `url`. Its `respond` can be replaced, and `requested` lists the requested paths. */
export const relay = (respond: Respond = honest, port = 0) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const state = { respond, requested: [] as Array<string | undefined> }
      const server = createServer((request, response) => {
        state.requested.push(request.url)
        state.respond(request, response)
      })
      await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve))
      return Object.assign(state, { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    }),
    ({ server }) => Effect.sync(() => server.close().closeAllConnections())
  )
