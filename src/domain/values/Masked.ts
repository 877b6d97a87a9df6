/** Masks an address for logs: enough to recognize one's own typing error, too little to contact the consumer. */
export const masked = (to: string): string =>
  to.includes("@") ? `${to.slice(0, 1)}…${to.slice(to.lastIndexOf("@"))}` : `${to.slice(0, 3)}…${to.slice(-2)}`
