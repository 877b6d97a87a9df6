/** Connections of a client that retries after a 503, and that tries another node after a broken connection. */
import { BalancedConnections } from "./BalancedConnections.ts"
import type { HttpAnswer, HttpRequest } from "./HttpConnections.ts"
import { pause } from "./Processes.ts"

const patienceMillis = 300_000
const retryPauseMillis = 20

export class PatientConnections extends BalancedConnections {
  /** Sends a request until its response is not a 503. Fails after five minutes. */
  override async send(message: HttpRequest): Promise<HttpAnswer> {
    const what = `${message.method} ${message.path}`
    let last = ""
    for (const begun = performance.now(); performance.now() - begun < patienceMillis; await pause(retryPauseMillis)) {
      const answer = await super.send(message).catch((error: unknown) => void (last = String(error)))
      if (answer !== undefined && answer.status !== 503) return answer
      if (answer !== undefined) last = "503"
    }
    throw new Error(`${what} did not succeed within ${patienceMillis} ms; the last result: ${last}`)
  }
}
