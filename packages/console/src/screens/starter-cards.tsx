import { Link } from "react-router";
import styles from "./starter-cards.module.css";
import { STARTERS } from "./starters.ts";

/** Agents to begin with; each leads to the form of a new agent that is filled in. */
export function StarterCards() {
  return (
    <ul className={styles.cards}>
      {STARTERS.map(({ id, name, text, icon: Icon }) => (
        <li key={id}>
          <Link className={styles.card} to={`/agents/new?starter=${id}`}>
            <Icon aria-hidden="true" />
            <span>
              <strong>{name}</strong>
              <span className={styles.text}>{text}</span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
