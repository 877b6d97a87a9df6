/** The changes of a commit. Subscribers in other processes receive them. */
export interface Change {
  readonly consumerIds: Iterable<string>
  /** True if the mechanism itself has changed, and not only places in it. */
  readonly recordChanged: boolean
}
