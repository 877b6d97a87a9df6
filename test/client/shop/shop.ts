/** A small shop: a public page, and a checkout that needs a grant. An example of the guard in Node. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import { createGrantGuard } from "../../../src/client/grant.ts"

export interface ShopSettings {
  readonly usherUrl: string
  readonly organizationId: string
  readonly experienceId: string
}

/** Starts the shop. Its checkout asks Usher's `complete` before it ships, because a grant is good for one order. */
export const openShop = async ({ usherUrl, organizationId, experienceId }: ShopSettings) => {
  const guard = createGrantGuard({
    url: usherUrl,
    organizationId,
    protects: (request) => (new URL(request.url).pathname.startsWith("/checkout") ? experienceId : undefined)
  })
  const page = (request: Request) =>
    new Response(new URL(request.url).pathname === "/checkout" ? "Pay here" : "Welcome to the shop")

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method!,
      headers: incoming.headers as Record<string, string>,
      ...(incoming.method === "POST" && { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" })
    })
    const response = await guard(request, page)
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.end(await response.text())
  }
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(resolve))
  }
}
