/** Mechanisms of a drop of coats in 2033. */

const openAt = Date.parse("2033-06-01T16:00:00Z")

/** The instant these minutes after the opening. */
export const minutesAfter = (minutes: number) => new Date(openAt + minutes * 60_000).toISOString()

export const line = (maxAdmissions: number) => ({
  name: "The line",
  openAt: minutesAfter(0),
  admitRate: 60,
  maxAdmissions,
  recycleExpiredAdmissions: true,
  admissionExpirationSeconds: 300
})

export const raffle = (winnerCount: number) => ({
  name: "The raffle",
  openAt: minutesAfter(0),
  closeAt: minutesAfter(60),
  drawAt: minutesAfter(120),
  winnerCount,
  admissionExpirationSeconds: 3600
})
