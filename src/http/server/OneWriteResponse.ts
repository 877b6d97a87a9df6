/**
 * A response whose headers and body go to the socket in one write. Node writes them together only where
 * `strictContentLength` is off, and Effect's server switches it on for each response. The answers of both APIs are
 * complete texts whose length Effect has counted, so that check finds nothing here. The second write cost a third of a
 * request's processor time.
 */
import { ServerResponse } from "node:http"

export class OneWriteResponse extends ServerResponse {}

Object.defineProperty(OneWriteResponse.prototype, "strictContentLength", { get: () => false, set: () => {} })
