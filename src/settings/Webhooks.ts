/** The settings of webhooks. */
import { Result } from "effect"
import { flag, networks, url, whole } from "./Shapes.ts"

const proxyUrl = url("WEBHOOK_PROXY_URL", {
  schemes: ["http:", "https:"],
  example: "http://user:password@host:3128",
  whenAbsent: "webhooks are delivered directly",
  meaning:
    "The operator's HTTP proxy for webhooks. It resolves host names, so it must refuse inward addresses itself: Usher " +
    "checks only the URL of a webhook then. Requests over HTTPS use CONNECT; the proxy does not see their content."
})

/** True if Node can send the URL's user and password: they decode to text without control characters. */
const hasReadableUser = (text: string): boolean => {
  const { username = "", password = "" } = URL.parse(text) ?? {}
  const decoded = Result.try(() => decodeURIComponent(`${username}:${password}`))
  return Result.isSuccess(decoded) && !/\p{Cc}/u.test(decoded.success)
}

export const webhookDefinitions = {
  webhookDelivery: flag(
    "WEBHOOK_DELIVERY",
    true,
    "Whether `usher serve` delivers webhooks. With `false` other processes must: those with `true`, or `usher webhooks deliver`."
  ),
  webhookNetworks: networks("WEBHOOK_NETWORKS", {
    whenAbsent: "webhooks reach public addresses only",
    meaning:
      "The operator's own networks that webhooks may reach. A webhook may use plain HTTP and an address without a " +
      "name there. Any organization can then send requests to these networks."
  }),
  webhookProxyUrl: { ...proxyUrl, parse: (text: string) => (hasReadableUser(text) ? proxyUrl.parse(text) : undefined) },
  webhooksPerSecond: whole("WEBHOOKS_PER_SECOND", {
    unit: "deliveries a second",
    fallback: 500,
    least: 1,
    most: 10_000,
    meaning: "The most webhook deliveries that this process starts."
  })
}
