/** A provider of the gate's tokens, as Turnstile and hCaptcha are: it answers whether a token is good. */
import { Layer } from "effect"
import { createServer, type Server as HttpServer } from "node:http"
import type { AddressInfo } from "node:net"
import { ProviderAddresses } from "../../../src/auth/challenge/TokenProviders.ts"

/** A provider: `good-…` is a good token, once; and it can be out of order. */
export const provider = {
  asked: [] as Array<{ readonly [name: string]: string }>,
  isOut: false,
  /** The status of every answer, if it is not 200. */
  status: 200,
  /** The answers that are held back. */
  held: undefined as Array<() => void> | undefined,
  redirects: false,
  spent: new Set<string>()
}
const siteverify: HttpServer = createServer((request, response) => {
  let body = ""
  request.on("data", (chunk) => (body += chunk))
  request.on("end", () => {
    if (provider.redirects && request.url === "/siteverify")
      return void response.writeHead(307, { location: "/elsewhere" }).end()
    if (provider.isOut) return void response.writeHead(500).end()
    if (provider.status !== 200) return void response.writeHead(provider.status).end()
    const form = Object.fromEntries(new URLSearchParams(body))
    provider.asked.push(form)
    const success =
      form["response"]!.startsWith("good-") && form["secret"] === "secret" && !provider.spent.has(form["response"]!)
    provider.spent.add(form["response"]!)
    const answer = () =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ success, hostname: "shop" }))
    if (provider.held === undefined) answer()
    else provider.held.push(answer)
  })
})
await new Promise<void>((resolve) => siteverify.listen(0, "127.0.0.1", resolve))
siteverify.unref()
const url = `http://127.0.0.1:${(siteverify.address() as AddressInfo).port}/siteverify`
/** Has the server check tokens here. */
export const addresses = Layer.succeed(ProviderAddresses, { turnstile: url, hcaptcha: url })
