/** Servers on loopback, and certificates for the hosts that they stand for. */
import { Effect } from "effect"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { generate } from "selfsigned"

/** Listens on any port while the scope lives. Returns the port. */
export const listening = <S extends Server>(server: S) =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )

/** Makes a certificate for the host, which signs itself. */
export const certificateOf = (host: string) =>
  Effect.map(
    Effect.promise(() =>
      generate([{ name: "commonName", value: host }], {
        extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: host }] }]
      })
    ),
    ({ cert, private: key }) => ({ cert, key })
  )
