module App.Store (open) where
import Data.List
data Shape a = Circle { radius :: Double } | Square a deriving (Show)
newtype Id = Id Int
type Name = String
class Eq a => Drawable a where
  draw :: a -> IO ()
instance Drawable Id where
  draw _ = pure ()
open' :: FilePath -> IO ()
open' p
  | null p = pure ()
  | otherwise = go p
  where go _ = pure () -- open = no
infixl 4 <+>
(<+>) :: Int -> Int -> Int
a <+> b = a + b
noSig x = x
