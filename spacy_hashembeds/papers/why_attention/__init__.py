"""Cross- and Att-BiLSTM encoders, and character CNNs, for NER (paper 003)."""
