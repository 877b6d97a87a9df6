/** The other visitors of a room: guests that act over the API. */
import type { HttpAnswer } from "../../e2e/support/HttpConnections.ts"
import { pause } from "../../e2e/support/Processes.ts"
import type { At } from "./bringing.ts"

/** Tries of a request that is answered 503. */
const triesMax = 10

/**
 * Sends a request again while it is answered 503, as a machine that stood still answers for a moment. It pauses as long as
 * the answer asks, up to half of it longer, or from 0.1 seconds on twice as long each time.
 */
const patiently = async (send: () => Promise<HttpAnswer>): Promise<HttpAnswer> => {
  for (let tries = 1; ; tries++) {
    const answer = await send()
    if (answer.status !== 503 || tries === triesMax) return answer
    const seconds = Number(answer.headers["retry-after"]) || Math.min(5, 0.1 * 2 ** (tries - 1))
    await pause(1_000 * seconds * (1 + Math.random() / 2))
  }
}

/** Lets other guests enter. */
export const others = async (
  { apis, mechanism }: Pick<At, "apis" | "mechanism">,
  count: number,
  action = "enter",
  body?: object
) => {
  for (let made = 0; made < count; made++) {
    const guest = await apis.guest()
    const answer = await patiently(() => apis.doAs(guest, `${mechanism}/${action}`, body))
    if (answer.status >= 300) throw new Error(`${mechanism}/${action}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
}
