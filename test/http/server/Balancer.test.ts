/**
 * Tests the balancer in docker-compose.yml. Its rules for forwarding headers are read from the file, applied to
 * requests, and sent to the listener.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Yaml from "effect/encoding/Yaml"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Server from "../../../src/http/server/Server.ts"
import { root } from "../../tidy/rules/Tree.ts"
import { layerWith, openAddress } from "../support/listenerFixture.ts"
import { send } from "../support/usherFixture.ts"

const compose = Yaml.parse(readFileSync(join(root, "docker-compose.yml"), "utf8")) as {
  readonly "x-settings": { readonly TRUSTED_PROXIES: string }
  readonly services: {
    readonly node1: { readonly environment: { readonly TRUSTED_PROXIES: string } }
    readonly balancer: { readonly networks: { readonly default: { readonly ipv4_address: string } } }
  }
  readonly configs: { readonly balancer: { readonly content: string } }
  readonly networks: {
    readonly default: {
      readonly ipam: { readonly config: ReadonlyArray<{ subnet: string; ip_range: string; gateway: string }> }
    }
  }
}
const [{ subnet, ip_range, gateway } = { subnet: "", ip_range: "", gateway: "" }] = compose.networks.default.ipam.config
const network = IpNetwork.fromStringUnsafe(subnet)
/** The addresses that Docker gives to services at random. */
const random = IpNetwork.fromStringUnsafe(ip_range)

const rules = [
  ...compose.configs.balancer.content.matchAll(
    /^ *http-request set-header (?<name>\S+) (?<value>\S+)(?: if \{ src (?<source>\S+) \})?$/gm
  )
].map(({ groups }) => groups as { readonly name: string; readonly value: string; readonly source?: string })

/** Returns the headers that the balancer sets on a request from this address over plain HTTP. */
function headersFrom(address: string): { readonly [name: string]: string } {
  const values: { readonly [expression: string]: string } = {
    "%[src]": address,
    "%[ssl_fc,iif(https,http)]": "http"
  }
  return Object.fromEntries(
    rules
      .filter(({ source = address }) => source === address)
      .map(({ name, value }) => [name.toLowerCase(), values[value] ?? value])
  )
}

/** The balancer's address: the machine's own address that is not loopback. */
const balancer = openAddress ?? "127.0.0.1"

const routes = HttpRouter.add("GET", "/things", HttpServerResponse.jsonUnsafe({ ok: true }))
const trustedProxies = [network, IpNetwork.fromStringUnsafe(`${balancer}/32`)]

describe("The balancer of docker-compose.yml", () => {
  layer(layerWith(routes, { host: "0.0.0.0", trustedProxies }), { excludeTestServices: true })((it) => {
    /** Sends a request that reaches the balancer from this address. Returns its status and its HSTS header. */
    const outcome = (address: string) =>
      Effect.gen(function* () {
        const url = new URL((yield* Server.Listeners).consumerUrl)
        url.hostname = balancer
        const { status, headers } = yield* send(url.href, { path: "/things", headers: headersFrom(address) })
        return [status, headers["strict-transport-security"]]
      })

    it.effect("is the only trusted proxy of the nodes, as the gateway is of a single process", () =>
      Effect.sync(() => {
        const { node1, balancer } = compose.services
        assert.strictEqual(compose["x-settings"].TRUSTED_PROXIES, gateway)
        assert.strictEqual(node1.environment.TRUSTED_PROXIES, balancer.networks.default.ipv4_address)
        for (const address of [gateway, balancer.networks.default.ipv4_address]) {
          assert.isTrue(IpNetwork.contains(network, NetAddress.ipFromStringUnsafe(address)))
          assert.isFalse(IpNetwork.contains(random, NetAddress.ipFromStringUnsafe(address)))
        }
      })
    )

    it.effect("starts without a node, follows one to another address, keeps slow ones, and ends live streams", () =>
      Effect.sync(() => {
        const { content } = compose.configs.balancer
        assert.match(content, /^ *default-server .* resolvers network init-addr libc,none$/m)
        assert.match(content, /^ *timeout check [1-9]\d*s$/m)
        assert.match(content, /^ *hard-stop-after [1-9]s$/m)
      })
    )

    it.effect("replaces all forwarding headers of a client", () =>
      Effect.sync(() => {
        for (const address of [gateway, "203.0.113.7"]) {
          assert.hasAllKeys(headersFrom(address), ["x-forwarded-for", "x-forwarded-proto"])
          for (const value of Object.values(headersFrom(address))) assert.notInclude(value, "%")
        }
      })
    )

    it.effect("serves clients on this machine, whose connections come from the gateway", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* outcome(gateway), [200, undefined])
      })
    )

    it.effect("refuses all other clients over plain HTTP, other services of the file too", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* outcome("203.0.113.7"), [403, undefined])
        assert.deepStrictEqual(yield* outcome(gateway.replace(/\d+$/, "77")), [403, undefined])
      })
    )
  })
})
