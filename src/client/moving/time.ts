/** The time of the server. A device's clock may be wrong, or be set while a page is open, so only its pace counts. */

/** The server's time at the beginning of the page; before the first answer it is the device's. */
let beginning = Date.now() - performance.now()

/** Takes in the instant of an answer. */
export const hear = (at: number): void => {
  beginning = at - performance.now()
}

/** Takes in the instant that the headers of an answer name. It is cut to its second. */
export const hearFrom = ({ headers }: Response): void => {
  const at = Date.parse(headers.get("date")!)
  if (at > 0) hear(at + 500)
}

/** Now, in milliseconds. */
export const serverNow = (): number => Math.round(beginning + performance.now())
