/** IP addresses in one spelling, in any runtime. */

/** The address, an IPv4 one also where it came through an IPv6 socket. Undefined if the text is none. */
export const addressIn = (text: string): string | undefined => {
  const address = text.replace(/^::ffff:(?=\d+\.)/i, "")
  if (/^\d+\.\d+\.\d+\.\d+$/.test(address)) return hostOf(address) === address ? address : undefined
  const isNew = address.includes(":") && /^[\da-f:.]+$/i.test(address)
  return isNew ? hostOf(`[${address}]`)?.slice(1, -1) : undefined
}

/** The host of an address of the web, as a browser writes it. */
const hostOf = (host: string): string | undefined => {
  const address = `http://${host}/`
  return URL.canParse(address) ? new URL(address).hostname : undefined
}
