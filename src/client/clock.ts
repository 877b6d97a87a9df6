/** The time of the server. A device's clock may be wrong, or be set while a page is open, so only its pace counts. */

/** The server's time at the beginning of the page; before the first answer it is the device's. */
let beginning = Date.now() - performance.now()

/** Takes in the instant of an answer. */
export const setServerTime = (at: number): void => {
  beginning = at - performance.now()
}

/** Takes in the instant of a piece of a room. */
export const takeServerTime = ({ headers }: Response): void => {
  const at = Number(headers.get("x-server-time"))
  if (at) setServerTime(at)
}

/** Now, in milliseconds. */
export const serverNow = (): number => Math.round(beginning + performance.now())
