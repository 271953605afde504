export function App({ name }: Props): JSX.Element {
  const onClick = () => {};
  return <div className="x">don't {name}</div>;
}
const Memo = React.memo(App);
