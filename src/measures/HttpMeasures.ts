/** Counts of the listeners, by API and by the template of the route. The sent path never becomes a label. */
import { by, counter, type Family, gauge, histogram } from "./Family.ts"
import { Histogram, requestSeconds } from "./Histogram.ts"

const statusClasses = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const
const tooManyRequests = 429

/** The answers of one operation. */
export class RouteMeasures {
  readonly method: string
  /** The template, such as `/api/queues/:queueId/enter`; `none` for requests that no operation answers. */
  readonly route: string
  private readonly answers = new Float64Array(statusClasses.length)
  readonly seconds = new Histogram(requestSeconds)
  refused = 0

  constructor(method: string, route: string) {
    this.method = method
    this.route = route
  }

  /** Counts an answer whose head is written so many seconds after the request came. */
  answered(status: number, seconds: number): void {
    this.answers[Math.floor(status / 100) - 1]! += 1
    this.seconds.add(seconds)
    if (status === tooManyRequests) this.refused++
  }

  get isUsed(): boolean {
    return this.count > 0
  }

  get count(): number {
    return this.answers.reduce((sum, answers) => sum + answers, 0)
  }

  get byStatus(): ReadonlyArray<readonly [string, number]> {
    return statusClasses.flatMap((name, index) => (this.answers[index]! > 0 ? [[name, this.answers[index]!]] : []))
  }
}

export class ApiMeasures {
  private readonly known = new Map<string, RouteMeasures>()
  readonly unrouted = this.route("none", "none")
  /** Requests whose answer has not begun. */
  inFlight = 0

  /** Returns the measures of an operation. The number of operations is bounded: routes are templates. */
  route(method: string, route: string): RouteMeasures {
    const key = `${method} ${route}`
    let found = this.known.get(key)
    if (found === undefined) this.known.set(key, (found = new RouteMeasures(method, route)))
    return found
  }

  get routes(): ReadonlyArray<RouteMeasures> {
    return [...this.known.values()]
  }

  /** All answers so far. */
  get answered(): number {
    return this.routes.reduce((sum, { count }) => sum + count, 0)
  }
}

export class HttpMeasures {
  readonly consumer = new ApiMeasures()
  readonly admin = new ApiMeasures()
  /** Live streams that are open now, and their limit. */
  readonly streams = { consumer: { open: 0, max: 0 }, admin: { open: 0, max: 0 } }

  families(): ReadonlyArray<Family> {
    const apis = [
      ["consumer", this.consumer],
      ["admin", this.admin]
    ] as const
    const routes = apis.flatMap(([api, { routes }]) =>
      routes
        .filter(({ isUsed }) => isUsed)
        .map((one) => ({ one, labels: { api, method: one.method, route: one.route } }))
    )
    const perApi = (number: (measures: ApiMeasures) => number) =>
      by(
        "api",
        apis.map(([api, measures]) => [api, number(measures)])
      )
    const refusedOf = ({ routes }: ApiMeasures) => routes.reduce((sum, { refused }) => sum + refused, 0)
    const streams = (number: "open" | "max") =>
      by("api", [
        ["consumer", this.streams.consumer[number]],
        ["admin", this.streams.admin[number]]
      ])
    return [
      counter(
        "usher_http_requests_total",
        "Answered requests by class of status.",
        routes.flatMap(({ one, labels }) => by("status", one.byStatus, labels))
      ),
      histogram(
        "usher_http_request_duration_seconds",
        "Time until the head of the answer was written.",
        routes.map(({ one, labels }) => ({ labels, value: one.seconds }))
      ),
      gauge(
        "usher_http_requests_in_flight",
        "Requests whose answer has not begun.",
        perApi(({ inFlight }) => inFlight)
      ),
      counter("usher_http_requests_refused_total", "Requests that a limit refused (429).", perApi(refusedOf)),
      gauge("usher_streams_open", "Open live streams.", streams("open")),
      gauge("usher_streams_max", "The most open live streams allowed.", streams("max"))
    ]
  }
}
