/**
 * Connections through a balancer. When its connection to a server breaks, it answers in the server's place, and the client
 * does not learn whether the request took effect. To the client this is a broken connection.
 */
import { type HttpAnswer, HttpConnections, type HttpRequest } from "./HttpConnections.ts"

/** Whether the status is the balancer's own word that it got no answer. Usher never sends these. */
export const brokenAtBalancer = (status: number): boolean => status === 502 || status === 504

export class BalancedConnections extends HttpConnections {
  override async send(message: HttpRequest): Promise<HttpAnswer> {
    const answer = await super.send(message)
    if (brokenAtBalancer(answer.status)) throw new Error(`the balancer answered ${answer.status}`)
    return answer
  }
}
